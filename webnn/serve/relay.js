// The relay of a worker that waits in shared memory: it passes the worker's messages to the emulator, and the answers to the worker.
// page_host.js has the other end, and the places of the numbers.
'use strict';
const WAITS = 0, HERE = 1, CLOSED = 3, STATE = 0, SIZE = 1, TOTAL = 2, READY = 4;
let socket, control, data;

function close() {
  Atomics.store(control, READY, 0);
  Atomics.store(control, STATE, CLOSED);
  Atomics.notify(control, STATE);
}
// Nothing else is to be done meanwhile: the next message comes after the answer.
function answer(bytes) {
  control[TOTAL] = bytes.length;
  for (let done = 0; done < bytes.length;) {
    const piece = bytes.subarray(done, done + data.length);
    data.set(piece);
    control[SIZE] = piece.length;
    done += piece.length;
    Atomics.store(control, STATE, HERE);
    Atomics.notify(control, STATE);
    if (done < bytes.length) Atomics.wait(control, STATE, HERE);
  }
}
onmessage = ({data: message}) => {
  if (socket !== undefined) {
    if (socket.readyState === WebSocket.OPEN) socket.send(message); else close();
    return;
  }
  control = new Int32Array(message.memory, 0, 16);
  data = new Uint8Array(message.memory, 64);
  socket = new WebSocket(message.address);
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => socket.send(message.greeting);
  // The first message says that calls may come.
  socket.onmessage = event => {
    if (Atomics.load(control, READY) === 1) answer(new Uint8Array(event.data)); else Atomics.store(control, READY, 1);
  };
  socket.onclose = close;
};

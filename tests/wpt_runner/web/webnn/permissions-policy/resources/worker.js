'use strict';
const answer = port => async () => {
  let error = '';
  try { await navigator.ml.createContext(); } catch (refusal) { error = refusal.name; }
  port.postMessage(error);
};
if ('onconnect' in self) onconnect = ({ports: [port]}) => { port.onmessage = answer(port); }; else onmessage = answer(self);

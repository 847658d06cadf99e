onmessage = event => event.waitUntil((async () => {
  try {
    await navigator.ml.createContext();
  } catch {
  }
  event.source.postMessage('settled');
})());

'use strict';
navigator.ml.createContext().then(() => '', error => error.name).then(error => parent.postMessage({error}, '*'));

/// <reference path="../../types/chromium-153.d.ts" />
const context = await navigator.ml.createContext({deviceType: 'gpu'});
export const x = new MLGraphBuilder(context).input('x', {dataType: 'int4', shape: [2]});
// @ts-expect-error: there is no such device
await navigator.ml.createContext({deviceType: 'xpu'});

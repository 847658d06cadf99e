// The worker of a page: a classic one, because LiteRT.js calls importScripts().
onmessage = async ({data: {order, bundle}}) => {
  try {
    const {default: run} = await import(bundle);
    postMessage({value: await run(order)});
  } catch (error) {
    postMessage({error: `${error?.name}: ${error?.message}`});
  }
};

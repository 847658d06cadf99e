// A network that finds edges: two filters, and the length of what they find.

/** A horizontal and a vertical Sobel filter, [output channels, input channels, height, width]. */
const FILTERS = new Float32Array([-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1]);

/**
 * Builds the network.
 * @param {MLContext} context
 * @param {'uint8' | 'float32'} dataType The type of the pixels: uint8 needs a quarter of the memory.
 * @param {number[]} shape [1, 1, height, width]
 */
function build(context, dataType, shape) {
  const builder = new MLGraphBuilder(context);
  let pixels = builder.input('pixels', {dataType, shape});
  if (dataType !== 'float32') pixels = builder.cast(pixels, 'float32');
  const filters = builder.constant({dataType: 'float32', shape: [2, 1, 3, 3]}, FILTERS);
  const slopes = builder.conv2d(pixels, filters, {padding: [1, 1, 1, 1]});
  const edges = builder.reduceL2(slopes, {axes: [1], keepDimensions: true});
  return builder.build({edges: builder.clamp(edges, {minValue: 0, maxValue: 255})});
}

/** Finds edges in pictures of one size. */
export class EdgeFinder {
  /**
   * @param {number} width
   * @param {number} height
   * @param {(text: string) => void} note Is told of each fallback.
   */
  static async create(width, height, note) {
    const shape = [1, 1, height, width];
    const context = await navigator.ml.createContext();
    for (const dataType of ['uint8', 'float32']) {
      try {
        const graph = await build(context, dataType, shape);
        const pixels = await context.createTensor({dataType, shape, writable: true});
        const edges = await context.createTensor({dataType: 'float32', shape, readable: true});
        return new EdgeFinder(context, graph, pixels, edges);
      } catch (error) {
        note(`It falls back from ${dataType} pixels: ${error.message}`);
      }
    }
    throw new Error('this device takes none of the networks');
  }

  constructor(context, graph, pixels, edges) {
    this.context = context;
    this.graph = graph;
    this.pixels = pixels;
    this.edges = edges;
  }

  /** Returns the strength of the edge at each pixel of a grey picture, from 0 to 255. */
  async find(grey) {
    this.context.writeTensor(this.pixels, this.pixels.dataType === 'uint8' ? grey : Float32Array.from(grey));
    this.context.dispatch(this.graph, {pixels: this.pixels}, {edges: this.edges});
    return new Float32Array(await this.context.readTensor(this.edges));
  }
}

// Pictures and canvases, drawn by CanvasKit: Skia, which browsers draw with, as WebAssembly. A program has them if the package canvaskit-wasm is
// installed below its root; the library runs in the program's own process.
//
// `kit` is the loaded library, `fetch` that of the program, `page` what node_document.js returns, null in a worker.
(function (global, kit, fetch, page) {
'use strict';
const {
  Blob, DOMException, EventTarget, Math, Number, Object, Promise, Proxy, Reflect, String, TypeError, URL, Uint8Array, Uint8ClampedArray, WeakMap, btoa,
} = global;
const define = (name, value) => Object.defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});
const invalid = (message, name = 'InvalidStateError') => new DOMException(message, name);
const MOST = 2 ** 28;

class ImageData {
  constructor(first, second, third) {
    const isNew = typeof first === 'number', width = isNew ? first : second, data = isNew ? null : first;
    if (data !== null && !(data instanceof Uint8ClampedArray)) throw new TypeError('ImageData: the data must be a Uint8ClampedArray');
    const height = isNew ? second : third ?? data.length / 4 / width;
    if (!(width >= 1 && height >= 1 && width * height <= MOST)) throw invalid(`ImageData: ${width} x ${height} is not a size`, 'IndexSizeError');
    if (data !== null && data.length !== 4 * width * height) throw invalid(`ImageData: the data must have ${4 * width * height} bytes, got ${data.length}`, 'IndexSizeError');
    const members = {width, height, data: data ?? new Uint8ClampedArray(4 * width * height), colorSpace: 'srgb'};
    for (const [name, value] of Object.entries(members)) Object.defineProperty(this, name, {value, enumerable: true});
  }
}

// ---- Pictures of CanvasKit

const info = (width, height) => ({width, height, colorType: kit.ColorType.RGBA_8888, alphaType: kit.AlphaType.Unpremul, colorSpace: kit.ColorSpace.SRGB});
const fromPixels = ({data, width, height}) => kit.MakeImage(info(width, height), data, 4 * width);
function decode(bytes) {
  const image = kit.MakeImageFromEncoded(bytes);
  if (image === null) throw invalid('the picture cannot be decoded');
  return image;
}

// The picture behind each ImageBitmap and Image, and the surface behind each canvas.
const pictures = new WeakMap(), surfaces = new WeakMap();
// Return a picture of a source, and whether it was made for this call.
function pictureOf(source, where) {
  if (surfaces.has(source)) {
    const {width, height} = source, data = surfaces.get(source).read();
    return [fromPixels({data, width, height}), true];
  }
  if (source instanceof ImageData) return [fromPixels(source), true];
  const image = pictures.get(source);
  if (image === null) throw invalid(`${where}: the picture is not loaded, or closed`);
  if (image === undefined) throw new TypeError(`${where}: the source must be a canvas, an ImageBitmap or an image`);
  return [image, false];
}

class ImageBitmap {
  constructor() { throw new TypeError('ImageBitmap: Illegal constructor'); }
  get width() { return pictures.get(this)?.width() ?? 0; }
  get height() { return pictures.get(this)?.height() ?? 0; }
  close() {
    pictures.get(this)?.delete();
    pictures.set(this, null);
  }
}
function makeBitmap(image) {
  const bitmap = Object.create(ImageBitmap.prototype);
  pictures.set(bitmap, image);
  return bitmap;
}
async function createImageBitmap(source, ...rest) {
  const options = typeof rest.at(-1) === 'object' ? rest.pop() : undefined;
  const [image, isOwn] = source instanceof Blob ? [decode(new Uint8Array(await source.arrayBuffer())), true] : pictureOf(source, 'createImageBitmap');
  try {
    const [x, y, width, height] = rest.length > 0 ? rest : [0, 0, image.width(), image.height()];
    const canvas = new OffscreenCanvas(options?.resizeWidth ?? width, options?.resizeHeight ?? height);
    surfaces.get(canvas).context().drawImage(makeBitmap(image), x, y, width, height, 0, 0, canvas.width, canvas.height);
    return makeBitmap(pictureOf(canvas, 'createImageBitmap')[0]);
  } finally {
    if (isOwn) image.delete();
  }
}

// ---- Canvases

// What a canvas is drawn on: made when it is first needed, and again when the size changes. The canvas has one context for its life.
class Surface {
  #canvas; #kit = null; #context = null;
  constructor(canvas) { this.#canvas = canvas; }
  reset() {
    this.#kit?.dispose();
    this.#kit = null;
  }
  #open() {
    const {width, height} = this.#canvas;
    if (this.#kit !== null) return this.#kit;
    if (!(width >= 1 && height >= 1 && width * height <= MOST)) throw invalid(`a canvas of ${width} x ${height} cannot be drawn on`);
    this.#kit = kit.MakeCanvas(width, height);
    if (this.#kit === null) throw invalid(`there is no memory for a canvas of ${width} x ${height}`);
    return this.#kit;
  }
  context() {
    if (this.#context !== null) return this.#context;
    const drawn = () => this.#open().getContext('2d');
    const own = {
      canvas: this.#canvas,
      drawImage(source, ...place) {
        const [image, isOwn] = pictureOf(source, 'drawImage');
        try { drawn().drawImage(image, ...place); } finally { if (isOwn) image.delete(); }
      },
      getImageData(x, y, width, height) {
        return new ImageData(new Uint8ClampedArray(drawn().getImageData(x, y, width, height).data), width, height);
      },
      putImageData({data, width, height}, ...place) {
        // The library's own constructor refuses data.
        const pixels = new kit.ImageData(width, height);
        pixels.data.set(data);
        drawn().putImageData(pixels, ...place);
      },
      createImageData: (width, height) => (width instanceof ImageData ? new ImageData(width.width, width.height) : new ImageData(width, height)),
    };
    this.#context = Object.setPrototypeOf(own, new Proxy({}, {
      get(_, name) {
        const value = drawn()[name];
        return typeof value === 'function' ? (...values) => Reflect.apply(value, drawn(), values) : value;
      },
      set(_, name, value) { drawn()[name] = value; return true; },
      has: (_, name) => name in drawn(),
    }));
    return this.#context;
  }
  read() {
    const [width, height] = [this.#canvas.width, this.#canvas.height];
    return this.#open().getContext('2d').getImageData(0, 0, width, height).data;
  }
  // Return the bytes and their type: PNG where the library does not write the wanted one, as in browsers.
  encode(type, quality) {
    const format = {'image/jpeg': kit.ImageFormat.JPEG, 'image/webp': kit.ImageFormat.WEBP}[type], [image] = pictureOf(this.#canvas, 'canvas');
    try {
      const bytes = format === undefined ? null : image.encodeToBytes(format, Math.round(100 * (quality ?? 0.92)));
      return bytes === null ? [image.encodeToBytes(kit.ImageFormat.PNG, 100), 'image/png'] : [bytes, type];
    } finally {
      image.delete();
    }
  }
}
const sizeOf = (value, fallback) => (Number.isFinite(Number(value)) && Number(value) >= 0 ? Math.trunc(Number(value)) : fallback);
const Canvas = Base => class extends Base {
  #width; #height;
  constructor(width, height, ...rest) {
    super(...rest);
    [this.#width, this.#height] = [sizeOf(width, 0), sizeOf(height, 0)];
    surfaces.set(this, new Surface(this));
  }
  get width() { return this.#width; }
  set width(value) { this.#width = sizeOf(value, 300); surfaces.get(this).reset(); }
  get height() { return this.#height; }
  set height(value) { this.#height = sizeOf(value, 150); surfaces.get(this).reset(); }
  getContext(kind) { return kind === '2d' ? surfaces.get(this).context() : null; }
};
function toBlob(canvas, wanted, quality) {
  const [bytes, type] = surfaces.get(canvas).encode(wanted, quality);
  return new Blob([bytes], {type});
}
class OffscreenCanvas extends Canvas(EventTarget) {
  async convertToBlob({type, quality} = {}) { return toBlob(this, type, quality); }
  transferToImageBitmap() {
    const bitmap = makeBitmap(pictureOf(this, 'transferToImageBitmap')[0]);
    surfaces.get(this).reset();
    return bitmap;
  }
}
for (const [name, value] of Object.entries({ImageData, ImageBitmap, createImageBitmap, OffscreenCanvas})) define(name, value);
if (page === null) return;

class HTMLCanvasElement extends Canvas(page.Element) {
  constructor() { super(300, 150, 'canvas'); }
  toBlob(callback, type, quality) { const blob = toBlob(this, type, quality); global.setTimeout(() => callback(blob), 0); }
  toDataURL(wanted, quality) {
    const [bytes, type] = surfaces.get(this).encode(wanted, quality);
    let text = '';
    for (const byte of bytes) text += String.fromCharCode(byte);
    return `data:${type};base64,${btoa(text)}`;
  }
}
class HTMLImageElement extends page.Element {
  #loading = Promise.resolve(); #src = '';
  crossOrigin = null;
  constructor() { super('img'); pictures.set(this, null); }
  get src() { return this.#src; }
  set src(url) {
    this.#src = URL.parse(`${url}`, global.location.href)?.href ?? `${url}`;
    pictures.set(this, null);
    const loading = (async () => {
      const response = await fetch(this.#src);
      if (!response.ok) throw invalid(`${this.#src}: ${response.status}`, 'EncodingError');
      pictures.set(this, decode(new Uint8Array(await response.arrayBuffer())));
    })();
    this.#loading = loading;
    loading.then(() => page.fire(this, 'load'), () => page.fire(this, 'error'));
  }
  get complete() { return this.#src === '' || pictures.get(this) !== null; }
  get naturalWidth() { return pictures.get(this)?.width() ?? 0; }
  get naturalHeight() { return pictures.get(this)?.height() ?? 0; }
  get width() { return this.naturalWidth; }
  get height() { return this.naturalHeight; }
  decode() { return this.#loading; }
}
page.makers.set('canvas', () => new HTMLCanvasElement());
page.makers.set('img', () => new HTMLImageElement());
for (const [name, value] of Object.entries({HTMLCanvasElement, HTMLImageElement, Image: HTMLImageElement})) define(name, value);
})

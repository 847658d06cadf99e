import {EdgeFinder} from './edges.js';

const $ = (id) => document.getElementById(id);
const {width, height} = $('picture');

function drawPicture() {
  const brush = $('picture').getContext('2d');
  brush.fillStyle = 'white';
  brush.fillRect(0, 0, width, height);
  brush.fillStyle = 'navy';
  brush.fillRect(12, 16, 28, 32);
  brush.fillStyle = 'tomato';
  brush.beginPath();
  brush.arc(66, 32, 18, 0, 2 * Math.PI);
  brush.fill();
}

/** Returns the picture in grey, a byte for each pixel. */
function readPicture() {
  const {data} = $('picture').getContext('2d').getImageData(0, 0, width, height);
  return Uint8Array.from({length: width * height}, (_, i) => (data[4 * i] + data[4 * i + 1] + data[4 * i + 2]) / 3);
}

/** Shows strong edges in black. */
function show(edges) {
  const image = new ImageData(width, height);
  edges.forEach((strength, i) => image.data.set([255 - strength, 255 - strength, 255 - strength, 255], 4 * i));
  $('edges').getContext('2d').putImageData(image, 0, 0);
}

function note(text) {
  const item = document.createElement('li');
  item.textContent = text;
  $('notes').append(item);
}

async function run() {
  $('run').disabled = true;
  $('notes').replaceChildren();
  $('status').textContent = 'The network is built ...';
  try {
    const finder = await EdgeFinder.create(width, height, note);
    finder.context.lost.then(({message}) => note(`The context is lost: ${message}`));
    const edges = await finder.find(readPicture());
    show(edges);
    const found = edges.filter((strength) => strength > 128).length;
    const device = finder.context.accelerated ? 'an accelerator' : 'the CPU';
    $('status').textContent = `${found} pixels are edges, computed on ${device} from ${finder.pixels.dataType} pixels`;
  } catch (error) {
    $('status').textContent = `It does not work: ${error.message}`;
  }
  $('run').disabled = false;
}

drawPicture();
$('run').addEventListener('click', run);
if (navigator.ml === undefined) $('status').textContent = 'This browser has no WebNN';
else await run();

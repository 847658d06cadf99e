// Which command starts the Python side.
'use strict';
const fs = require('node:fs'), path = require('node:path');

const inEnvironment = folder => path.join(folder, 'bin/python');
// -P: a folder `webnn` of the project must not hide the package.
const ofPython = python => [python, '-P', '-m', 'webnn', 'attach'];

function ofPath(given) {
  if (Array.isArray(given)) return [...given, 'attach'];
  if (fs.statSync(given, {throwIfNoEntry: false})?.isDirectory()) return ofPython(inEnvironment(given));
  return /^(python|pypy)[\d.]*$/.test(path.basename(given)) ? ofPython(given) : [given, 'attach'];
}

// The environments that lie beside the project, or above it.
function* environments() {
  if (process.env.VIRTUAL_ENV) yield process.env.VIRTUAL_ENV;
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    yield path.join(folder, '.venv');
    if (path.dirname(folder) === folder) return;
  }
}

// The commands to try, one after the other.
exports.findCommands = given => {
  const stated = given ?? process.env.WEBNN_PYTHON;
  if (stated?.length) return [ofPath(stated)];
  const present = [...new Set(environments())].map(inEnvironment).filter(each => fs.existsSync(each));
  // Tests download nothing: uvx has it if somebody has run it before.
  return [...[...present, 'python3', 'python'].map(ofPython), ['webnn', 'attach'], ['uvx', '--offline', '--from', 'webnn', 'webnn', 'attach']];
};

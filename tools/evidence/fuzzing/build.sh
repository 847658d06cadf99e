#!/usr/bin/env bash
# OSS-Fuzz runs this in its image base-builder-python, which has compile_python_fuzzer, and the folder $OUT.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."

pip3 install '.[stablehlo,tflite]'
for harness in "$here"/fuzz_*.py; do
  target=$(basename -s .py "$harness")
  name=${target#fuzz_}
  compile_python_fuzzer "$harness" --paths "$PWD" --collect-data webnn
  zip -q -j "$OUT/${target}_seed_corpus.zip" "$here/corpus/$name"/*
  cp "$here/dictionaries/$name.dict" "$OUT/$target.dict"
done

// Answers each message of 100 bytes with as many, as fast as pipes allow.
import {readSync, writeSync} from 'node:fs';

const bytes = new Uint8Array(100);
while (readSync(0, bytes) > 0) writeSync(1, bytes);

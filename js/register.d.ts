/// <reference path="./types/2026-06.d.ts" />
export {};

/**
 * The module `node:http`. An `import` of it reads each of its exports, and the first one that is about WebSockets loads all of Node's `fetch`:
 * 15 MB and 40 ms of processor time. The files of this repository therefore take it from here.
 */
export const http = process.getBuiltinModule('node:http')

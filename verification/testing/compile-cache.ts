import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/countersign-tests', import.meta.url))

/**
 * The variable that lets a process of ours find what Node compiled for one before it: it starts in half the time. A process that is killed
 * keeps nothing, so somebody has to end in peace first: see `compileOnce`.
 */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? FOLDER } as const

import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's space for new objects at 2 MB. It grows whenever many of them survive, as almost all that a start makes do: to 34–48 MB, of which
 * 6–11 MB were in use once the server was ready. Has to run before Node's compile cache is enabled, because the flags are part of its key.
 */
export const keepNewSpaceSmall = () => setFlagsFromString('--semi-space-growth-factor=1')

/** Lets that space grow again, by V8's default factor. */
export const letNewSpaceGrow = () => setFlagsFromString('--semi-space-growth-factor=2')

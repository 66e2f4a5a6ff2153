// The front end of examples/ai-sdk-ui with the page of this folder.
import { join } from 'node:path'
import { startFrontEnd as start } from '../../ai-sdk-ui/front-end.mjs'

// Of each package one copy, although files of examples/ai-sdk-ui take part.
const page = { root: join(import.meta.dirname, 'page'), resolve: { dedupe: ['@ai-sdk/react', 'ai', 'react', 'react-dom'] } }

export const startFrontEnd = (settings) => start({ ...settings, page })

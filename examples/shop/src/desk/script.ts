import { defineScript } from 'countersign'
import { readTurn } from './turn.ts'
import { understand } from './understand.ts'

/** The demo's model, `scripted/./src/desk/script.ts`: the desk's understanding, streamed at about the pace of a real model. */
export default defineScript({
  reply: (request) => ({ ...understand(readTurn(request.messages)), chunkDelayMs: 18 }),
})

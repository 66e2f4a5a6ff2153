import { parseArgs } from 'node:util'
import { createBrain } from './brain.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4401' },
    host: { type: 'string', default: '127.0.0.1' },
  },
})

const brain = await createBrain({ port: Number(values.port), host: values.host })
console.log(`The brain is at ${brain.url}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void brain.close())

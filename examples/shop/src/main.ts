import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createShop } from './shop/shop.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4400' },
    host: { type: 'string', default: '127.0.0.1' },
    data: { type: 'string', default: './data' },
  },
})

const shop = await createShop({ databaseFile: join(values.data, 'shop.db'), port: Number(values.port), host: values.host })
console.log(`The order desk is at ${shop.url}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void shop.close())

import { defineConfig, openApiStarter } from 'countersign'
import { startInventory } from './service/server.ts'

// A small inventory with a description of its own. For your own service leave it out and write its document and `auth: { key: '${…}' }`.
const key = 'only-an-example-key'
export const inventory = await startInventory({ key, port: Number(process.env.INVENTORY_PORT ?? 4440) })

export default defineConfig({
  agents: {
    storekeeper: {
      model: 'scripted/scripted/storekeeper.ts',
      instructions: 'You keep the inventory in order. Read before you propose. People decide on each change.',
      tools: ['stock.*'],
      suggestions: ['What is running low?'],
    },
  },
  tools: {
    stock: {
      openapi: {
        document: 'service/inventory.yaml',
        baseUrl: inventory.url,
        auth: { key },
        operations: {
          // By its method it would ask: it only looks.
          'parts/search': { effect: 'read' },
          'parts/update': { describe: 'Reorder {sku} when there are fewer than {reorderAt}' },
        },
      },
    },
  },
  policy: { rules: openApiStarter('stock') },
})

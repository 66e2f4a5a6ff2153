import { definePlugin } from 'nitro'
import { getWorld } from 'workflow/runtime'

/** Runs that were active when the server was killed continue when the store is started. */
export default definePlugin(async () => {
  const world = await getWorld()
  await world.start?.()
})

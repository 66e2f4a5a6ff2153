import type { NitroConfig } from 'nitro/types'

export default {
  serverDir: './server',
  modules: ['workflow/nitro'],
  // Its default storage reads its version beside its code when it is started; bundled, it does not start.
  traceDeps: ['@workflow/world-local'],
} satisfies NitroConfig

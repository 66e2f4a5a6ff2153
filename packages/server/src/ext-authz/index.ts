import type { SourceKind, ToolSource } from '@countersign/toolkit'
import { z } from 'zod'
import { gatewayTools } from './gateway-tools.ts'
import { gatewayStarter } from './starter.ts'

export { isGatewayTool, READS, WRITES } from './gateway-tools.ts'
export { gatewayStarter } from './starter.ts'

const ExtAuthzSection = z.strictObject({
  /** True for a gateway that forwards bodies (Envoy's `with_request_body`). Without it requests that write are refused. */
  bodies: z.boolean().default(false),
})

/** The settings under `ext-authz` in the configuration. */
export type ExtAuthzInput = z.input<typeof ExtAuthzSection>

/** Requests that pass through a gateway, as tools that policy can match. */
export const extAuthz: SourceKind<z.output<typeof ExtAuthzSection>> = {
  starter: gatewayStarter,
  schema: ExtAuthzSection,
  open: (settings): ToolSource => ({
    kind: 'ext-authz',
    secrets: [],
    drafts: () => gatewayTools(settings),
    check: async () => [
      {
        level: 'ok',
        message: `gateways ask at /ext-authz; ${settings.bodies ? 'they say that they forward bodies' : 'requests that write are refused, because bodies are not forwarded'}`,
      },
    ],
  }),
}

/** The types of a provider that comes without them, as far as the tests use it. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Context {
    path: string
    body: unknown
    req: IncomingMessage
    res: ServerResponse
    oidc: { route?: string; client: { clientId: string }; session: { accountId: string }; params: { scope: string } }
  }

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: Record<string, unknown>): Promise<void>
    readonly Grant: new (of: {
      accountId: string
      clientId: string
    }) => Grant
  }
}

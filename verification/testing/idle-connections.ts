// Before every file of the default suite: no HTTP server of a test closes an idle connection. A server measures its five or ten seconds by the
// clock, and `fetch` measures its own, shorter time by timers, which a busy machine delays: after a pause of both (an import of many modules,
// a command that is waited for) the server closes the connection under the next request, which fails with ECONNRESET.
import { channel, subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'

const BEGINS = 'http.server.request.start'

if (!channel(BEGINS).hasSubscribers) {
  subscribe(BEGINS, (message) => {
    const { server } = message as { server: Server }
    server.keepAliveTimeout = 0
  })
}

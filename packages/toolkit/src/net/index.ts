export { outgoingFetch } from './fetch.ts'
export { type Network, type NetworkOptions, openNetwork, RefusedAddress, type Resolve } from './network.ts'
export { createRedactor, REDACTED, type Redactor, secretHeaders } from './secrets.ts'
export { type OutgoingRequest, send } from './send.ts'

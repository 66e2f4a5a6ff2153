import { none } from 'eve/channels/auth'
import { eveChannel } from 'eve/channels/eve'

/** The server listens on the loopback only. */
export default eveChannel({ auth: [none()] })

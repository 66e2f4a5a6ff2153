import { userInfo } from 'node:os'

/** The admin key of every server that tests start. */
export const BOOTSTRAP_KEY = 'the-key-of-the-acceptance-tests'

/** The name of its owner, the person at this machine. */
export const ADMIN_NAME = userInfo().username

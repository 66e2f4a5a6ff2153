/** The admin key of every server that tests start. */
export const BOOTSTRAP_KEY = 'the-key-of-the-acceptance-tests'

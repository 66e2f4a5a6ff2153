import { Transform } from 'node:stream'

/** Unknown to Postgres 15 and 16. */
const SETTING = 'SET transaction_timeout = 0;'
/** `pg_restore` writes it after the setting. */
const NEXT = 'SET client_encoding'
/** Where the settings of a script are, with room to spare. */
const HEAD_BYTES = 65_536

/**
 * Takes the line `SET transaction_timeout = 0;` out of the settings at the beginning of a script: `pg_restore` 17 and newer writes it for
 * whatever database the script is meant, and an older one knows no such setting. The rest passes unchanged.
 */
export function withoutTransactionTimeout(): Transform {
  let head: Buffer | undefined = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (head === undefined) return done(null, chunk)
      head = Buffer.concat([head, chunk])
      if (!head.includes(NEXT) && head.length < HEAD_BYTES) return done()
      const begun = withoutSetting(head)
      head = undefined
      done(null, begun)
    },
    flush: (done) => done(null, head && withoutSetting(head)),
  })
}

function withoutSetting(head: Buffer): Buffer {
  const [at, next] = [head.indexOf(SETTING), head.indexOf(NEXT)]
  return at === -1 || at > next ? head : Buffer.concat([head.subarray(0, at), head.subarray(at + SETTING.length)])
}

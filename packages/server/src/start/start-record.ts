import type { Logger } from 'pino'
import { type AnchorSender, type AuditKey, isGenuine, openMemory, readAnchor, type Sealer, SYSTEM } from '../audit/index.ts'
import type { Store } from '../store/index.ts'

export interface RecordOptions {
  store: Store
  sealer: Sealer
  auditKey: AuditKey
  log: Logger
  /** The file of the remembered newest head of the record. Undefined: none. */
  headFile: string | undefined
  /** Where heads are sent; its file is read back. Undefined: nowhere. */
  anchor: { sender: AnchorSender; file: string | undefined } | undefined
  /** True when no other process writes to the database. */
  isAlone: boolean
  /** Accepts a record that is older than its remembered head. */
  acceptLoss: boolean
}

/** Starts to sign the record, after it was compared with the newest head that this installation remembers or has sent. */
export async function startRecord({ store, sealer, auditKey, log, headFile, anchor, isAlone, acceptLoss }: RecordOptions): Promise<void> {
  const sent = anchor?.file === undefined ? [] : readAnchor(anchor.file).filter((head) => isGenuine(head, [auditKey.publicKey]))
  const memory = openMemory({ file: headFile, others: sent, log })
  sealer.start({ store, key: auditKey, log, memory, isAlone, onHead: (head) => anchor?.sender.take(head) })
  if (acceptLoss) await sealer.accept({ id: SYSTEM }, 'The server was started with --accept-loss.', 'behind')
}

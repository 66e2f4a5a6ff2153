import type { Logger } from 'pino'
import { type AnchorSender, type AuditKey, isGenuine, openMemory, readAnchor, type Sealer, SYSTEM } from '../audit/index.ts'
import type { Guard } from '../instance/index.ts'
import type { Store } from '../store/index.ts'

export interface RecordOptions {
  store: Store
  sealer: Sealer
  auditKey: AuditKey
  log: Logger
  /** The file of the remembered newest head of the record. Undefined: none. */
  headFile: string | undefined
  /** Where heads are sent, but by no copy; its file is read back. Undefined: nowhere. */
  anchor: { sender: AnchorSender; file: string | undefined } | undefined
  /** Undefined where no database can be a copy. */
  guard: Pick<Guard, 'held' | 'onChange'> | undefined
  /** True when no other process writes to the database. */
  isAlone: boolean
  /** Accepts a record that is older than its remembered head. */
  acceptLoss: boolean
}

/** Starts to sign the record, after it was compared with the newest head that this installation remembers or has sent. */
export async function startRecord(options: RecordOptions): Promise<void> {
  const { store, sealer, auditKey, log, headFile, anchor, guard, isAlone, acceptLoss } = options
  const sent = anchor?.file === undefined ? [] : readAnchor(anchor.file).filter((head) => isGenuine(head, [auditKey.publicKey]))
  const memory = openMemory({ file: headFile, others: sent, log })
  let newest: Parameters<AnchorSender['take']>[0] | undefined
  // A copy signs heads with the numbers of those that the original has sent, or will send.
  const send = (head = newest) => {
    newest = head
    if (head && !guard?.held) anchor?.sender.take(head)
  }
  guard?.onChange(() => send())
  sealer.start({ store, key: auditKey, log, memory, isAlone, onHead: send })
  if (acceptLoss) await sealer.accept({ id: SYSTEM }, 'The server was started with --accept-loss.', 'behind')
}

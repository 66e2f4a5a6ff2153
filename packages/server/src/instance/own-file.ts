import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { InstanceRow, Mark } from '../store/index.ts'
import { type FilePlace, isSameFile, placeOf, type WitnessFile, writeWitness } from './witness.ts'

type Bound = Pick<InstanceRow, 'id' | 'epoch'>

export interface OwnFileOptions {
  /** Undefined: this process keeps none. */
  file: string | undefined
  /** The file of an embedded database, to which the witness is bound. */
  databaseFile: string | undefined
  /** What the database says now. */
  bound: () => Bound
  clock: Clock
  log: Logger
}

/**
 * How long a witness file keeps its identity while rows are committed. A copy of the folder that is put back by writing into its files looks
 * like the original as long as the witness is the one that was copied.
 */
const SAME_FILE_MS = 60_000

/** The witness file of this process, which follows what is committed. */
export class OwnFile {
  readonly #options: OwnFileOptions
  #witness: WitnessFile | undefined
  /** The newest row that this process knows to be committed. */
  #mark: Mark | undefined
  /** The identity of the embedded database at the time the witness was made. */
  #place: FilePlace | undefined
  #isNoting = false
  /** Whether rows were committed since the witness was made, and when that was. */
  #isBehind = false
  #madeAtMs = 0

  constructor(options: OwnFileOptions) {
    this.#options = options
  }

  /** Makes the file anew. @throws Error when it cannot be written. */
  write({ id, epoch }: Bound, mark: Mark | undefined): void {
    const { file, databaseFile, clock } = this.#options
    this.#mark = mark
    if (file === undefined) return
    const written = writeWitness(file, { id, epoch, mark }, databaseFile)
    this.#witness?.[Symbol.dispose]()
    this.#witness = written
    this.#place = databaseFile === undefined ? undefined : placeOf(databaseFile)
    this.#isBehind = false
    this.#madeAtMs = clock.nowMs()
  }

  /** Adds a commit to the file: one write for all transactions of a commit, before any caller gets an answer. */
  note(mark: Mark): void {
    this.#mark = mark
    if (this.#isNoting || !this.#witness) return
    this.#isNoting = true
    queueMicrotask(() => {
      this.#isNoting = false
      this.#isBehind = true
      this.#try(() => {
        if (this.#mark) this.#witness?.note(this.#mark)
        if (Math.abs(this.#options.clock.nowMs() - this.#madeAtMs) >= SAME_FILE_MS) this.#renew()
      })
    })
  }

  close(): void {
    this.#try(() => this.#renew())
    this.#witness?.[Symbol.dispose]()
    this.#witness = undefined
  }

  /** Makes the witness anew where its identity counts, so that an earlier copy of it is known by that. */
  #renew(): void {
    const { databaseFile, bound } = this.#options
    if (databaseFile === undefined || !this.#witness || !this.#isBehind || !this.#place) return
    // A file that was put in the place of the database while it is in use is not vouched for.
    if (isSameFile(this.#place, placeOf(databaseFile))) this.write(bound(), this.#mark)
  }

  #try(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.#options.log.warn({ error, file: this.#options.file }, 'instance.write_failed')
    }
  }
}

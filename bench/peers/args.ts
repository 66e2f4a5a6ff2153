import { parseArgs } from 'node:util'
import { chooseSystems, SYSTEMS, type SystemKey } from './systems.ts'

export interface Options {
  systems: readonly SystemKey[]
  rounds: number
  /** How long one system runs at one concurrency in one round. */
  blockMs: number
  warmUpMs: number
  help: boolean
}

export const HELP = `Compares Countersign with other systems on the same gated cycle:
  message, scripted model, ask, approve, tool, model, done.

  npm run bench:peers -- [options]

  --only a,b   only these systems, and Countersign on their databases
  --quick      short blocks, two rounds: to see that everything works
  --help       this text

Systems: ${SYSTEMS.map(({ key }) => key).join(', ')}.
The folder's name stands for all systems in it. Peers are installed with npm into bench/peers/<name>.
Prints one JSON on standard output, and after it the Markdown of bench/measurements.md.
`

/** Reads the command line. @throws Error for unknown options and systems. */
export function readOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: { only: { type: 'string' }, quick: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  })
  return {
    systems: chooseSystems(values.only?.split(',').filter((name) => name !== '')),
    rounds: values.quick ? 2 : 5,
    blockMs: values.quick ? 1_000 : 4_000,
    warmUpMs: values.quick ? 500 : 3_000,
    help: values.help,
  }
}

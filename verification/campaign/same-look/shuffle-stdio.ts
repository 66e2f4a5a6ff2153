// Starts the program that its arguments name after a seed, and hands on what both say to each other; the members of every JSON object that
// the program answers with stand in another order each time.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { seededRandom } from '../../simulation/random.ts'
import { shuffledText } from './shuffled.ts'

const [seed = '', command = '', ...args] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
process.stdin.pipe(child.stdin)
createInterface({ input: child.stdout }).on('line', (line) => process.stdout.write(`${shuffledText(line, random)}\n`))
child.on('exit', (code) => process.exit(code ?? 1))

// `npm run docs:guarantees`: writes the tables of verification/guarantees.md anew from the list of failures.
import { readFileSync, writeFileSync } from 'node:fs'
import { withTables } from './table.ts'

const PAGE = new URL('../../guarantees.md', import.meta.url)
writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8')))

#!/usr/bin/env node
import { runCommand } from './cli/index.ts'

await runCommand(process.argv, process.env)

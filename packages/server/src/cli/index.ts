import { VERSION } from '@countersign/toolkit/internal'
import { Command } from 'commander'
import type { Environment } from '../config/index.ts'
import { archiveCommand } from './archive.ts'
import { auditCommand } from './audit.ts'
import { backupCommand, restoreCommand } from './backup.ts'
import { completionCommand } from './completion.ts'
import { connectCommand } from './connect/connect.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { hookCommand } from './hook.ts'
import { decideCommand, inboxCommand } from './inbox.ts'
import { initCommand } from './init/index.ts'
import { keyCommand } from './key.ts'
import { mcpCommand } from './mcp.ts'
import { policyCommand } from './policy.ts'
import { runAgentCommand } from './run.ts'
import { complain } from './say.ts'
import { serveCommand } from './serve.ts'
import { signInCommand } from './sign-in.ts'
import { tailCommand } from './tail.ts'

/** The `countersign` command with all its subcommands. */
export function createProgram(environment: Environment): Command {
  const program = new Command('countersign')
    .description('The approval layer for AI agents: agents propose, people countersign, actions run exactly once.')
    .version(VERSION)
    .showHelpAfterError('(countersign --help lists the commands)')
  program.addCommand(initCommand())
  program.addCommand(serveCommand(environment))
  program.addCommand(demoCommand(environment))
  program.addCommand(mcpCommand(environment))
  program.addCommand(connectCommand(environment))
  program.addCommand(hookCommand(environment))
  program.addCommand(inboxCommand(environment))
  program.addCommand(decideCommand('approve', environment))
  program.addCommand(decideCommand('decline', environment))
  program.addCommand(tailCommand(environment))
  program.addCommand(runAgentCommand(environment))
  program.addCommand(archiveCommand(environment))
  program.addCommand(backupCommand(environment))
  program.addCommand(restoreCommand(environment))
  program.addCommand(policyCommand(environment))
  program.addCommand(doctorCommand(environment))
  program.addCommand(auditCommand(environment))
  program.addCommand(keyCommand(environment))
  program.addCommand(signInCommand(environment))
  program.addCommand(completionCommand(() => program))
  return program
}

/** Runs `countersign`. A failure is printed in one sentence and sets the exit code to 1. */
export async function runCommand(argv: readonly string[], environment: Environment): Promise<void> {
  try {
    await createProgram(environment).parseAsync([...argv])
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}

// The program of the section *Require Approval for a Tool* in docs/03-agents/06-tool-approvals.mdx of the npm package ai 7.0.173,
// Copyright 2023 Vercel, Inc., Apache License 2.0. Changed: the model and runCommand, which the section leaves to its reader, are imported,
// and the agent is exported.
import { ToolLoopAgent, tool } from 'ai';
import { model, runCommand } from './supplied-ai-sdk.ts';
import { z } from 'zod';
import { gate } from '../../packages/client/src/gate/ai-sdk.ts';
import { createClient } from '../../packages/client/src/index.ts';

const client = createClient({ baseUrl: process.env.COUNTERSIGN_URL ?? '', key: process.env.COUNTERSIGN_KEY });
const agent = new ToolLoopAgent({
  model: model,
  tools: gate(client, {
    runCommand: tool({
      inputSchema: z.object({ command: z.string() }),
      execute: async ({ command }) => runCommand(command),
    }),
  }, { register: true }),
});

export { agent };

/** A program that is copied from the documentation in an installed package, and what the copy changed. */
interface Documented {
  file: string
  page: string
  /** Finds the program in the page. */
  program: RegExp
  changes: readonly [from: string | RegExp, to: string][]
}

export const DOCUMENTED: readonly Documented[] = [
  {
    file: 'ai-sdk.before.ts',
    page: 'node_modules/ai/docs/03-agents/06-tool-approvals.mdx',
    program: /## Require Approval for a Tool\n.*?```ts[^\n]*\n(.*?)```/s,
    changes: [
      ['__PROVIDER_IMPORT__;', "import { model, runCommand } from './supplied-ai-sdk.ts';"],
      ['model: __MODEL__', 'model: model'],
      [/$/, '\nexport { agent };\n'],
    ],
  },
  {
    file: 'ai-sdk-route.before.ts',
    page: 'node_modules/ai/docs/04-ai-sdk-ui/03-chatbot-tool-usage.mdx',
    program: /### Server Setup\n.*?```tsx[^\n]*\n(.*?)```/s,
    changes: [
      ['__PROVIDER_IMPORT__;', "import { fetchWeather, model } from './supplied-ai-sdk.ts';"],
      ['model: __MODEL__', 'model: model'],
    ],
  },
  {
    file: 'langchain.before.ts',
    page: 'node_modules/langchain/dist/agents/middleware/hitl.d.ts',
    program: /\* Basic usage with selective tool approval\n \* ```typescript\n(.*?) \* ```/s,
    changes: [
      [/^ \* ?/gm, ''],
      [
        'import { createAgent } from "langchain";\n',
        'import { createAgent } from "langchain";\nimport { MemorySaver } from "@langchain/langgraph";\nimport { model, readFileTool, writeFileTool } from "./supplied-langchain.ts";\n',
      ],
      ['model: "openai:gpt-4"', 'model: model'],
      ['middleware: [hitlMiddleware]\n', 'middleware: [hitlMiddleware],\n  checkpointer: new MemorySaver()\n'],
      [/$/, '\nexport { agent };\n'],
    ],
  },
  {
    file: 'mastra.before.ts',
    page: 'scripts/counterparts/node_modules/@mastra/core/dist/docs/references/docs-agents-human-in-the-loop.md',
    program: /## Quickstart\n.*?```typescript\n(.*?)```/s,
    changes: [
      [
        "import { Agent } from '@mastra/core/agent'\nimport { createTool } from '@mastra/core/tools'\n",
        "import { Agent, createTool, db, model } from './supplied-mastra.ts'\n",
      ],
      ["model: 'openai/gpt-5-mini'", 'model: model'],
    ],
  },
]

/** The program of this page with the changes of the copy. */
export const changedProgram = ({ program, changes }: Documented, page: string): string =>
  changes.reduce((text, [from, to]) => text.replace(from, to), program.exec(page)?.[1] ?? '')

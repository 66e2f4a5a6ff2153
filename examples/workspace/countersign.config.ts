import { defineConfig, workspaceStarter } from 'countersign'
import { makeWork } from './make-work.ts'

// The folder `work` beside this file, made at the first start: yours to look into and to change meanwhile.
export default defineConfig({
  agents: {
    editor: {
      model: 'scripted/scripted/editor.ts',
      instructions: 'You keep the notes of a small shop. Work on a branch. Read before you propose. People decide on each change.',
      tools: ['repo.*'],
      suggestions: ['Fix the typo in the notes'],
    },
  },
  tools: { repo: { workspace: { root: makeWork(), author: { name: 'Editor', email: 'editor@example.com' } } } },
  policy: { rules: [...(workspaceStarter('repo') ?? [])] },
})

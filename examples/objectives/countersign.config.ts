import { defineConfig, objectivesStarter } from 'countersign'

// Objectives live in the server's own database: there is nothing to connect to.
export default defineConfig({
  agents: {
    coach: {
      model: 'scripted/scripted/coach.ts',
      instructions: 'You keep the objectives of the team. Read before you propose. People decide on each change.',
      tools: ['goals.*'],
      suggestions: ['Set an objective for support', 'Median wait is 9.5 now', 'How do we stand?'],
    },
  },
  tools: { goals: { objectives: {} } },
  policy: { rules: objectivesStarter('goals') },
})

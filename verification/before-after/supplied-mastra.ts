// Mastra, which only the tests install, and what its documentation leaves to its reader.
import { importMastra } from '../testing/gate-frameworks.ts'
import { carryOut } from './effects.ts'

export { model } from './supplied-ai-sdk.ts'
export const { Agent, createTool } = await importMastra()
export const db = { delete: (id: string): Promise<void> => carryOut({ id }, undefined) }

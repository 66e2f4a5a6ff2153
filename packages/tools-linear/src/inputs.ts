import { z } from 'zod'
import { PRIORITIES } from './views.ts'

// The descriptions are for the model.

export const Issue = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9-]{1,63}$/)
  .describe('Identifier such as ENG-12 (or the id)')
export const Team = z.string().min(1).max(100).describe('Key such as ENG, or the name')
export const User = z.string().min(1).max(300).describe('Name, e-mail address or id of a member; "me" is whose key it is')
export const Status = z.string().min(1).max(200).describe('Name of a status of the team, for example In Progress')
export const Label = z.string().min(1).max(300).describe('Name of a label; Group/Name where it is in a group')
export const Project = z.string().min(1).max(300).describe('Name or id of a project')
export const Cycle = z.string().min(1).max(200).describe('"current", "next", a number, a name or an id')
export const Document = z.string().min(1).max(500).describe('Title or id of a document')
export const Attachment = z.string().min(1).max(2_000).describe('Title, address or id of a link on the issue')
export const Milestone = z.string().min(1).max(300).describe('Name or id of a milestone of the project')
/** What is shown is what it is: no character that looks like another one, or like none. */
export const Link = z
  .string()
  .max(2_000)
  .regex(/^https?:\/\/[!-~]+$/)
  .refine((text) => URL.canParse(text), 'must be an http or https address')
  .describe('An http or https address, in ASCII as browsers copy it')
export const Title = z.string().min(1).max(500)
export const Text = z.string().max(100_000).describe('Markdown')
export const Priority = z.enum(PRIORITIES)
export const Estimate = z.int().min(0).max(1_000).describe('Points')
export const Day = z.iso.date().describe('YYYY-MM-DD')
export const Limit = z.int().min(1).max(100).default(25)

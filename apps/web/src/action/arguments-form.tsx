import type { EditorSlot } from '@countersign/react'
import { ToolArgumentsEditor } from '@countersign/react/editor'
import { useServices } from '../services.tsx'

/** The form for the arguments of a call, with the console's client. */
export default function ArgumentsForm(slot: EditorSlot) {
  const { client } = useServices()
  return <ToolArgumentsEditor client={client} {...slot} />
}

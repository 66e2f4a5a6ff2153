import { useMutation } from '@tanstack/react-query'
import { errorText } from '../errors.ts'
import { useServices } from '../services.tsx'
import { Button, Notice } from '../ui/index.ts'
import { saveFile } from '../ui/save-file.ts'

type ExportButtonProps = { format: 'jsonl' | 'csv'; path: string; query: () => Record<string, string> }

/** Saves an export of the server as a file. The file is fetched, not linked to, so that the request is signed in. */
export function ExportButton({ format, path, query }: ExportButtonProps) {
  const { client } = useServices()
  const exporting = useMutation({
    mutationFn: async () => {
      const params = new URLSearchParams({ format, ...query() })
      await saveFile(await client.open(`${path}?${params}`, { headers: { accept: '*/*' } }))
    },
  })
  return (
    <>
      <Button variant="outlined" disabled={exporting.isPending} onClick={() => exporting.mutate()}>
        {exporting.isPending ? 'Exporting…' : `Export ${format.toUpperCase()}`}
      </Button>
      {exporting.isError && <Notice tone="error">{errorText(exporting.error)}</Notice>}
    </>
  )
}

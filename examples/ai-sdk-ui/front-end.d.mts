/** Starts the page and its server. */
export declare function startFrontEnd(settings: {
  port: number
  countersign: string
  key: string
  page?: object
}): Promise<{ url: string; close(): Promise<void> }>

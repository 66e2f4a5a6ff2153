const PATHS = {
  plus: 'M8 3v10M3 8h10',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  cross: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  clock: 'M8 4.8V8l2.2 1.6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  alert: 'M8 2.4l6.2 11H1.8zM8 6.4v3M8 11.4v.1',
  dots: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  circle: 'M13.5 8a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0z',
  send: 'M8 13V3.2M3.8 7.2L8 3l4.2 4.2',
  stop: 'M4.5 4.5h7v7h-7z',
  chevron: 'M6 3.5L10.5 8 6 12.5',
  down: 'M8 3v9.8M3.8 8.8L8 13l4.2-4.2',
  inbox: 'M2.2 9.2L4 3.2h8l1.8 6v3.6H2.2zM2.2 9.2h3.2l.9 1.6h3.4l.9-1.6h3.2',
  chat: 'M2.4 3h11.2v7.8H7.2L4.4 13v-2.2h-2z',
  settings: 'M2.5 5h5M10.5 5h3M2.5 11h2M7.5 11h6M9 3.4v3.2M6 9.4v3.2',
  help: 'M6 6.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.4M8 11.4v.1M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  user: 'M8 8a2.6 2.6 0 1 0 0-5.2A2.6 2.6 0 0 0 8 8zM3 13.4c.6-2.2 2.4-3.4 5-3.4s4.4 1.2 5 3.4',
  target: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM10.6 8a2.6 2.6 0 1 1-5.2 0 2.6 2.6 0 0 1 5.2 0zM8 8h.1',
  tool: 'M10.2 2.6a3.4 3.4 0 0 0-3.1 4.9L2.6 12l1.4 1.4 4.5-4.5a3.4 3.4 0 0 0 4.7-3.9l-2 2-2-.6-.6-2 2-2a3.4 3.4 0 0 0-.4.2z',
  key: 'M9.4 6.6a2.9 2.9 0 1 0-1.2 1.2l4.8 4.8M10.6 10.2l1.4-1.4',
  list: 'M6 4.5h7.5M6 8h7.5M6 11.5h7.5M2.8 4.5h.1M2.8 8h.1M2.8 11.5h.1',
  chart: 'M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6',
  signal: 'M8 8h.1M5.6 10.4a3.4 3.4 0 0 1 0-4.8M10.4 5.6a3.4 3.4 0 0 1 0 4.8M3.5 12.5a6.4 6.4 0 0 1 0-9M12.5 3.5a6.4 6.4 0 0 1 0 9',
  refresh: 'M13 5.6A5.4 5.4 0 1 0 13.4 9M13.2 2.6v3.2H10',
} as const

export type IconName = keyof typeof PATHS

/** A line drawing of 16 units, decorative: the word beside it or the label around it carries the meaning. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}

import { useStoredSwitch } from './stored-switch.ts'

/** Whether single keys act (WCAG 2.1.4: they can be switched off). On at first. */
export const useShortcuts = () => useStoredSwitch('countersign-shortcuts', true)

/** True when a key pressed on `target` is text for a field, so no shortcut may take it. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

/** True while a dialog or a menu is open, which takes keys of its own. */
export const isLayerOpen = (): boolean => document.querySelector('dialog[open], [role=dialog], [role=alertdialog], [role=menu]') !== null

import { useAddress, useTypedParam, withParam } from '../shell/use-address.ts'
import { type Grouping, isGrouping } from './groups.ts'
import { isOrder, type Order } from './order.ts'
import { isView, type View } from './views.ts'

const FIRST_VIEW: View = 'mine'
const FIRST_ORDER: Order = 'urgent'

/** View, search, order and groups of the inbox. The address holds them, so that a reload, a link and the back button keep them. */
export function useInboxAddress() {
  const { params, set } = useAddress()
  const { value: text, typed, setTyped } = useTypedParam('q')
  const [view, order, group] = [params.get('view'), params.get('order'), params.get('group')]
  return {
    view: isView(view) ? view : FIRST_VIEW,
    order: isOrder(order) ? order : FIRST_ORDER,
    /** How the rows are grouped; undefined where they are not. */
    grouping: isGrouping(group) ? group : undefined,
    text,
    typed,
    setTyped,
    setOrder: (to: Order) => set('order', to === FIRST_ORDER ? '' : to),
    setGrouping: (to: Grouping | '') => set('group', to),
    /** The address of another view with the same search, order and groups. */
    hrefOf: (to: View) => `?${withParam(params.toString(), 'view', to === FIRST_VIEW ? '' : to)}`,
  }
}

import { useAddress, useTypedParam, withParam } from '../shell/use-address.ts'
import { isOrder, type Order } from './order.ts'
import { isView, type View } from './views.ts'

const FIRST_VIEW: View = 'mine'
const FIRST_ORDER: Order = 'urgent'

/** View, search and order of the inbox. The address holds them, so that a reload, a link and the back button keep them. */
export function useInboxAddress() {
  const { params, set } = useAddress()
  const { value: text, typed, setTyped } = useTypedParam('q')
  const [view, order] = [params.get('view'), params.get('order')]
  return {
    view: isView(view) ? view : FIRST_VIEW,
    order: isOrder(order) ? order : FIRST_ORDER,
    text,
    typed,
    setTyped,
    setOrder: (to: Order) => set('order', to === FIRST_ORDER ? '' : to),
    /** The address of another view with the same search and order. */
    hrefOf: (to: View) => `?${withParam(params.toString(), 'view', to === FIRST_VIEW ? '' : to)}`,
  }
}

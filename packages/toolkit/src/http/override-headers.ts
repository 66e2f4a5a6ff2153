/** Headers with which a service may do something else than method and path say. In lower case. */
export const OVERRIDE_HEADERS = ['x-http-method-override', 'x-http-method', 'x-method-override', 'x-original-url', 'x-rewrite-url']

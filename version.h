/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The version of the modules, of ibats and of the packages. `make release VERSION=X` changes it
 * here and in the other files that state it: see "Versions" in Documentation/packages.rst.
 */
#ifndef _IB_IPOIB_VERSION_H
#define _IB_IPOIB_VERSION_H

#define IB_IPOIB_VERSION "2.0"

#endif /* _IB_IPOIB_VERSION_H */

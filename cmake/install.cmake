# The library for other programs: find_package(plimsoll), then link plimsoll::core. Vocabularies are no part of it;
# `plimsoll tokenizers` says where they lie.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

add_library(plimsoll_core INTERFACE)
add_library(plimsoll::core ALIAS plimsoll_core)
target_link_libraries(plimsoll_core INTERFACE plimsoll::engine plimsoll::grounding)

set(INSTALLED api core base count window strategy budget grounding render retrieve ledger chat models engine jinja)
foreach(NAME ${INSTALLED})
  set_target_properties(plimsoll_${NAME} PROPERTIES EXPORT_NAME ${NAME})
  list(APPEND INSTALLED_TARGETS plimsoll_${NAME})
endforeach()
set(PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/plimsoll)
install(TARGETS ${INSTALLED_TARGETS} EXPORT plimsoll ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT plimsoll NAMESPACE plimsoll:: FILE plimsollTargets.cmake DESTINATION ${PACKAGE_FOLDER})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/plimsoll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plimsollConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/plimsollConfig.cmake ${PROJECT_BINARY_DIR}/plimsollConfigVersion.cmake
  DESTINATION ${PACKAGE_FOLDER})

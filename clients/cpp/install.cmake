# Installs libsluice.a, the headers, a CMake package (find_package(sluice), target sluice::client) and sluice.pc.
include(CMakePackageConfigHelpers)

add_library(sluice_package STATIC $<TARGET_OBJECTS:sluice_client> $<TARGET_OBJECTS:sluice_wire> $<TARGET_OBJECTS:sluice_base>)
set_target_properties(sluice_package PROPERTIES OUTPUT_NAME sluice EXPORT_NAME client LINKER_LANGUAGE CXX)
target_include_directories(sluice_package INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(sluice_package INTERFACE cxx_std_20)
target_link_libraries(sluice_package PRIVATE PkgConfig::ZMQ PUBLIC Threads::Threads)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sluice")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/sluice-config.cmake.in" "${CMAKE_CURRENT_BINARY_DIR}/sluice-config.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/sluice-config-version.cmake" COMPATIBILITY SameMinorVersion)
configure_file("${CMAKE_CURRENT_LIST_DIR}/sluice.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/sluice.pc" @ONLY)

install(TARGETS sluice_package EXPORT sluice ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT client)
install(EXPORT sluice NAMESPACE sluice:: FILE sluice-targets.cmake DESTINATION "${package_dir}" COMPONENT client)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/sluice-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/sluice-config-version.cmake"
        DESTINATION "${package_dir}" COMPONENT client)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/sluice.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT client)
install(DIRECTORY include/sluice DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT client)
